"""Lists of people in several countries: each in the encoding, with the delimiter and the notations used there."""

from core import Item, text

# Name: encoding, delimiter, and a table whose columns are divided by tabs.
LISTS = {
    "german": ("windows-1252", ";", """Nr\tName\tStraße\tOrt\tGeburtstag\tMitglied
1\tMüller, Käthe\tKönigsallee 5\tDüsseldorf\t24.12.1970\tja
2\tJäger, Jörg\tGroße Bleichen 1\tKöln\t03.05.1985\tnein
3\tWeiß, Ännchen\tÖlmühlweg 12\tMünchen\t31.01.1999\tja
4\tSchröder, Günther\tBäckerstraße 9\tGöttingen\t17.08.1962\tnein"""),
    "french": ("windows-1252", ";", """Numéro\tNom\tPrénom\tSociété\tVille\tDate d'entrée\tActif
1\tLefèvre\tHélène\tCrédit à l'économie\tBesançon\t13/02/2019\toui
2\tGarçon\tFrançois\tHôtel « Étoile »\tNîmes\t01/09/2020\tnon
3\tNoël\tGaëlle\tThéâtre d'Orléans\tOrléans\t29/02/2020\toui"""),
    "spanish": ("windows-1252", ";", """Código\tNombre\tDirección\tProvincia\tAlta\tActivo
1\tMuñoz Peña, José\tCalle Ávila nº 7\tCáceres\t28/02/2021\tsí
2\tIbáñez, Begoña\tPlaza de España\tLogroño\t15/11/2022\tno
3\tNúñez, Íñigo\tAvda. Constitución 3\tMálaga\t07/01/2020\tsí"""),
    "portuguese": ("windows-1252", ";", """Código\tNome\tEndereço\tCidade\tPreço
1\tJoão Gonçalves\tRua da Conceição 12\tSão Paulo\t1.250,90
2\tMaria Antónia Simões\tPraça do Comércio\tÉvora\t19,00
3\tÂngela Ramalhão\tAv. Brasília\tMaceió\t7.000.000,50"""),
    "swedish": ("windows-1252", ";", """Namn\tGata\tPostnr\tOrt\tBelopp
Åsa Öberg\tSkärgårdsvägen 3\t111 22\tMalmö\t1 250,50
Björn Sjöström\tÄngsgränd 4\t903 20\tUmeå\t99,00
Märta Håkansson\tStorgatan 1\t581 81\tLinköping\t12 000,00"""),
    "polish": ("windows-1250", ";", """Imię\tNazwisko\tMiasto\tUlica\tAktywny
Łukasz\tŻółkiewski\tŁódź\tŚwiętokrzyska 5\ttak
Małgorzata\tWójcik\tGdańsk\tDługa 12\tnie
Michał\tZieliński\tKraków\tŻabia 3\ttak
Grażyna\tDąbrowska\tPoznań\tSłowackiego 8\ttak"""),
    "czech": ("windows-1250", ";", """Jméno\tPříjmení\tMěsto\tUlice\tČástka
Jiří\tDvořák\tPlzeň\tŽižkova 5\t1 250,00
Božena\tČerná\tÚstí nad Labem\tDlouhá třída 7\t99,90
Tomáš\tŘezníček\tTřebíč\tNáměstí Míru 1\t12,50"""),
    "hungarian": ("windows-1250", ";", """Név\tVáros\tUtca\tÖsszeg
Szűcs Győző\tGyőr\tFő út 5\t12 500,00
Kőműves Ágnes\tSzékesfehérvár\tPetőfi tér 2\t900,50
Tóth Ödön\tHódmezővásárhely\tÖrökség köz 1\t1,00"""),
    "russian": ("windows-1251", ";", """Номер\tФамилия\tИмя\tГород\tСумма\tАктивен
1\tИванов\tПётр\tМосква\t1 250,50\tда
2\tСмирнова\tЮлия\tСанкт-Петербург\t99,00\tнет
3\tКузнецов\tФёдор\tНижний Новгород\t12 000,00\tда
4\tЩербакова\tЭмма\tКазань\t7,25\tнет"""),
    "greek": ("windows-1253", ";", """Όνομα\tΠόλη\tΔιεύθυνση
Παπαδόπουλος Γιώργος\tΑθήνα\tΟδός Ερμού 5
Νικολάου Μαρία\tΘεσσαλονίκη\tΤσιμισκή 12
Γεωργίου Ελένη\tΠάτρα\tΑγίου Ανδρέου 1"""),
    "turkish": ("windows-1254", ";", """Adı\tŞehir\tAdres
Yılmaz, Ayşe\tİstanbul\tBağdat Caddesi 5
Öztürk, Çağrı\tEskişehir\tAtatürk Bulvarı 12
Şahin, Gülşen\tMuğla\tÇiçek Sokağı 3"""),
    "japanese": ("Shift_JIS", ",", """顧客番号\t氏名\tフリガナ\t住所\t備考
0001\t田中太郎\tﾀﾅｶ ﾀﾛｳ\t東京都千代田区丸の内1-1\t表示する
0002\t佐藤花子\tサトウ ハナコ\t大阪府大阪市北区\tソフトウェア能力
0003\t髙橋一郎\tタカハシ イチロウ\t北海道札幌市①\t㈱十勝"""),
    "chinese": ("gb18030", ",", """编号\t姓名\t地址\t金额
1\t王小明\t北京市朝阳区建国路1号\t1200.50
2\t李芳\t上海市浦东新区世纪大道\t99
3\t欧阳娜娜\t广东省深圳市南山区㐀\t0.01"""),
    "taiwanese": ("Big5", ",", """編號\t姓名\t地址
1\t陳大文\t台北市信義區市府路1號
2\t林美麗\t高雄市前金區中正四路
3\t許功蓋\t臺中市西屯區"""),
    "korean": ("EUC-KR", ",", """번호\t이름\t주소\t금액
1\t김철수\t서울특별시 강남구 테헤란로\t1000
2\t이영희\t부산광역시 해운대구\t2500
3\t박민수\t대구광역시 중구\t300"""),
}

# Encodings that a guess cannot tell from others, so they are given.
OTHERS = {
    "polish-iso": ("polish", "ISO-8859-2"),
    "czech-iso": ("czech", "ISO-8859-2"),
    "german-mac": ("german", "macintosh"),
    "german-iso-15": ("german", "ISO-8859-15"),
    "russian-koi8": ("russian", "KOI8-R"),
    "japanese-euc": ("japanese", "EUC-JP"),
}

# Characters of Windows that EUC-JP does not have.
PLAIN_KANJI = str.maketrans("髙①㈱", "高1株")

DATES = {"german": ("Geburtstag", "%d.%m.%Y"), "french": ("Date d'entrée", "%d/%m/%Y"),
         "spanish": ("Alta", "%d/%m/%Y")}
BOOLEANS = {"german": ("Mitglied", "ja"), "french": ("Actif", "oui"), "spanish": ("Activo", "sí"),
            "polish": ("Aktywny", "tak"), "russian": ("Активен", "да")}
NUMBERS = {"portuguese": "Preço", "swedish": "Belopp", "czech": "Částka", "hungarian": "Összeg", "russian": "Сумма"}


def table(name: str, delimiter: str) -> str:
    """Returns a table as a spreadsheet writes it: cells with a delimiter are quoted."""
    rows = (line.split("\t") for line in LISTS[name][2].split("\n"))
    quoted = ([f'"{cell}"' if delimiter in cell else cell for cell in row] for row in rows)
    return "".join(delimiter.join(row) + "\n" for row in quoted)


def types(name: str) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    if name in DATES:
        found[DATES[name][0]] = ("date", DATES[name][1])
    if name in BOOLEANS:
        found[BOOLEANS[name][0]] = ("boolean", BOOLEANS[name][1])
    if name in NUMBERS:
        found[NUMBERS[name]] = ("number", ",")
    return found


def items() -> list[Item]:
    made = []
    for name, (encoding, delimiter, _) in LISTS.items():
        how = {"encoding": encoding, "delimiter": delimiter, "types": types(name)}
        made.append(text(f"people/{name}-{encoding.lower()}.csv", table(name, delimiter), newline="\r\n",
                         sample=name in ("polish", "japanese"), **how))
    for name in ("german", "french", "polish", "russian", "japanese", "korean"):
        how = {"delimiter": LISTS[name][1], "types": types(name)}
        made.append(text(f"people/{name}-utf-8.csv", table(name, LISTS[name][1]), **how))
        made.append(text(f"people/{name}-excel-csv-utf-8.csv", table(name, LISTS[name][1]), mark=True,
                         newline="\r\n", **how))
    for name in ("german", "greek", "russian", "japanese", "chinese"):
        made.append(text(f"people/{name}-unicode-text.txt", table(name, "\t"), mark=True, newline="\r\n",
                         encoding="UTF-16LE", delimiter="\t", types=types(name)))
    for name in ("turkish", "chinese"):
        made.append(text(f"people/{name}-utf-16be.csv", table(name, ","), mark=True, encoding="UTF-16BE"))
    for name, (of, encoding) in OTHERS.items():
        guessed = name == "japanese-euc"
        content = table(of, LISTS[of][1]).translate(PLAIN_KANJI if guessed else {})
        made.append(text(f"people/{name}.csv", content, encoding=encoding, delimiter=LISTS[of][1],
                         reading={} if guessed else {"encoding": encoding.lower()}))
    made.append(text("people/german-latin-1-tabs.tsv", table("german", "\t"), encoding="windows-1252", delimiter="\t",
                     note="ISO-8859-1 is read as windows-1252, as the Encoding Standard says."))
    return made
